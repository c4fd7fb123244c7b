// TENS messages in C++17: what docs/format.md says of dense, jagged and tiled tensors, from the standard library.
//
// decode() takes the frames of a message for hostile and gives tensors that point into them, so the frames must
// outlive what is read from them; encode() gives frames that point into the tensors. A part that lies at an
// address its elements cannot have (in a single frame, say) is copied once. What a peer sent wrong is a
// ProtocolError with a reason of the format's last table; what a caller may not ask is std::invalid_argument.
#pragma once
#include "tensorwrapper/encode.hpp"
#include "tensorwrapper/frames.hpp"
