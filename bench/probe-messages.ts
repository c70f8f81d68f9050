/** The message that asks a server for its report. */
export const ASK_INSIDE = 'inside'
/** The message that asks for a collection of the whole heap. */
export const COLLECT = 'collect'
/** The message that begins a profile of all threads of a server. */
export const BEGIN_PROFILE = 'begin-profile'
/** The message that ends it. The answer has the profiles. */
export const END_PROFILE = 'end-profile'
