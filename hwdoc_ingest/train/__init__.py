"""How the encoder's weights are made: generated text, training, export and its figures. Needs torch."""
