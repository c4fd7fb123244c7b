"""Labels of messages, read as what they say."""

import json


def described(frames):
    return json.loads(bytes(frames[0])[8:])["TENS"]["tensors"][0]
