"""Two people decide at random over revisions: the state rebuilt from the events is that of a plain model, each time.

The model keeps who approved what as sets and forgets by hand; it folds no events and knows no digests.
"""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from review_maker import ADD_2, AT, CONV_0, CONV_1, JUSTIFICATION, TRUST, action, policy, say

from metainfer_core.errors import InputError
from review_store.record.check_log import check_log
from review_store.record.log import EventLog
from review_store.review.decide import current_state, undo_last
from review_store.review.state import fold

IDS = (CONV_0, CONV_1, ADD_2)
PEOPLE = st.sampled_from(("ada", "bob"))
ACTIONS = st.sampled_from(IDS)
BITS = st.sampled_from((4, 16))


class Review(RuleBasedStateMachine):
    """What people do, in any order."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.log = EventLog(self.folder)
        self.bits = dict.fromkeys(IDS, 8)
        self.history = {each: [] for each in IDS}
        self.steps = 0

    def policy(self):
        risks = dict(zip(IDS, ("low", "medium", "high"), strict=True))
        kinds = {each: each.split("@")[0] for each in IDS}
        nodes = {each: each.split("@")[1] for each in IDS}
        return policy(
            *(action(nodes[each], risks[each], kinds[each], params={"bit_width": self.bits[each]}) for each in IDS)
        )

    def say(self, who, action_id, verdict, **more):
        say(self.log, self.policy(), who, action_id, verdict, **more)
        self.steps += 1
        self.history[action_id].append((who, verdict, self.bits[action_id], more.get("override")))

    def expected(self, action_id):
        """Override in force, and who approved what would be built now."""
        override, approvals, tagged, rejected = None, {}, None, {}
        for who, verdict, bits, given in self.history[action_id]:
            if verdict == "override" and bits == self.bits[action_id]:
                override = given
            elif verdict == "approve":
                approvals[who] = (bits, override)
                rejected.pop(who, None)
            elif verdict == "reject":
                rejected[who] = (bits, override)
                approvals.pop(who, None)
            elif verdict == "tag":
                tagged, approvals = who, {}
            elif verdict == "withdraw":
                approvals.pop(who, None)
                rejected.pop(who, None)
                tagged = None if tagged == who else tagged
        now = (self.bits[action_id], override)
        holds = {who for who, seen in approvals.items() if seen == now}
        forbids = {who for who, seen in rejected.items() if seen == now}
        return override, holds, forbids, tagged

    @rule(who=PEOPLE, action_id=ACTIONS)
    def approve(self, who, action_id):
        self.say(who, action_id, "approve", justification=JUSTIFICATION)

    @rule(who=PEOPLE, action_id=ACTIONS)
    def reject(self, who, action_id):
        self.say(who, action_id, "reject", reason="no")

    @rule(who=PEOPLE, action_id=ACTIONS)
    def tag(self, who, action_id):
        self.say(who, action_id, "tag", reason="look")

    @rule(who=PEOPLE, action_id=ACTIONS, given=st.sampled_from((False, None, {"bit_width": 12}, {"bit_width": 2})))
    def override(self, who, action_id, given):
        self.say(who, action_id, "override", override=given, reason="try")

    @rule(who=PEOPLE, action_id=ACTIONS)
    def withdraw(self, who, action_id):
        _, holds, forbids, tagged = self.expected(action_id)
        if who in holds | forbids or tagged == who:
            self.say(who, action_id, "withdraw")

    @rule(who=PEOPLE, action_id=ACTIONS)
    def undo(self, who, action_id):
        own = [index for index, each in enumerate(self.history[action_id]) if each[0] == who]
        try:
            undo_last(self.log, current_state(self.log, self.policy(), TRUST), action_id, who, AT)
            undone = True
        except InputError:
            undone = False
        assert undone == bool(own)
        if undone:
            del self.history[action_id][own[-1]]

    @precondition(lambda self: self.steps > 2)
    @rule(action_id=ACTIONS, bits=BITS)
    def new_revision(self, action_id, bits):
        self.bits[action_id] = bits

    @precondition(lambda self: hasattr(self, "log"))
    @invariant()
    def state_is_that_of_the_model(self):
        records = self.log.records()
        state = fold(self.policy(), records, TRUST)
        for action_id in IDS:
            override, holds, forbids, tagged = self.expected(action_id)
            review = state.action(action_id)
            assert review.action.override == override
            assert set(review.approvals) == holds
            assert set(review.rejections) == forbids
            assert (review.tag.actor if review.tag else None) == tagged
            assert (review.word == "approved") == (bool(holds) and not forbids)
        other_program = EventLog(self.folder)
        assert fold(self.policy(), other_program.records(), TRUST) == state
        other_program.close()

    def teardown(self):
        if hasattr(self, "log"):
            assert check_log(self.log) == ()
            self.log.close()
            shutil.rmtree(self.folder)


Review.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None, derandomize=True)
TestReview = Review.TestCase
