"""Run by Alembic: migrates on the connection that `database.open_engine` hands over, inside its one transaction."""

from alembic import context

from review_store.record.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=METADATA, transactional_ddl=True)
context.run_migrations()
