TIDE_AT = {
    "name": "tide_at",
    "description": "How high the water is in a harbour.",
    "parameters": {
        "type": "object",
        "properties": {"harbour": {"type": "string", "description": "Name of the harbour"}},
        "required": ["harbour"],
    },
}

TIDE_SUM = {
    "type": "function",
    "function": {
        "name": "tide_sum",
        "description": "Adds heights.",
        "parameters": {"type": "object", "properties": {"heights": {"type": "array", "items": {"type": "number"}}}, "required": ["heights"]},
    },
}
