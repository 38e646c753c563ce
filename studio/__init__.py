"""What the studio's screens share. With app.py and pages/ the only code that imports streamlit."""
