"""How sure a reading is: where it stands, who else says it, and what that has meant on judged documents."""
