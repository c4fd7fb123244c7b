"""Operations on views: each with its text, its JSON, and the map from new positions to old ones."""
