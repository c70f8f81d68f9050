/** The numbers of HTTP/2 (RFC 9113). */

/** The first bytes of a client (section 3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** The types of frames (section 6). */
export const FRAME = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const

/** The flags of frames (section 6). */
export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

/** The parameters of SETTINGS (section 6.5.2). */
export const SETTING = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
} as const

/** The error codes (section 7). */
export const ERROR = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const

/** The bytes of a frame before its payload (section 4.1). */
export const FRAME_HEADER_BYTES = 9

/** The largest payload of a frame, in both directions: the value that SETTINGS begins with (section 4.2). */
export const MAX_FRAME_SIZE = 16_384

/** The flow-control window that streams and connections begin with (section 6.9.2). */
export const INITIAL_WINDOW = 65_535

/** The largest flow-control window (section 6.9.1). */
export const MAX_WINDOW = 2 ** 31 - 1
