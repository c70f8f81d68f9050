import { settingsFrame } from './frame-writer.ts'
import { MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_BYTES, MAX_SETTINGS_PARAMETERS } from './limits.ts'
import { ERROR, MAX_FRAME_SIZE, MAX_WINDOW, SETTING } from './protocol.ts'

/** The first frame of this server (RFC 9113, section 3.4). */
export const SERVER_SETTINGS = settingsFrame([
  [SETTING.maxConcurrentStreams, MAX_CONCURRENT_STREAMS],
  [SETTING.maxHeaderListSize, MAX_HEADER_LIST_BYTES],
])

const PARAMETER_BYTES = 6
const LARGEST_FRAME_SIZE = 2 ** 24 - 1

/** The settings of a client that matter to a server. Frames of more than 16 KiB and server push are never sent. */
export interface SettingsChange {
  readonly initialWindowSize: number | undefined
  readonly headerTableSize: number | undefined
}

/** The error of a SETTINGS frame: its code, and whether a limit of ours has caused it. */
export interface SettingsFault {
  readonly errorCode: number
  readonly isLimit: boolean
}

/** Reads the payload of SETTINGS (section 6.5). Unknown parameters are ignored; of each, the last value counts. */
export function readSettings(payload: Buffer): SettingsChange | SettingsFault {
  if (payload.length % PARAMETER_BYTES !== 0) return error(ERROR.frameSizeError)
  if (payload.length > PARAMETER_BYTES * MAX_SETTINGS_PARAMETERS)
    return { errorCode: ERROR.enhanceYourCalm, isLimit: true }
  let [initialWindowSize, headerTableSize]: (number | undefined)[] = []
  for (let at = 0; at < payload.length; at += PARAMETER_BYTES) {
    const [parameter, value] = [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)]
    const errorCode = errorOf(parameter, value)
    if (errorCode !== undefined) return error(errorCode)
    if (parameter === SETTING.initialWindowSize) initialWindowSize = value
    // The smallest counts: the table was that small for a moment (RFC 7541, section 4.2).
    else if (parameter === SETTING.headerTableSize)
      headerTableSize = Math.min(headerTableSize ?? value, value)
  }
  return { initialWindowSize, headerTableSize }
}

/** The values that are allowed (section 6.5.2). */
function errorOf(parameter: number, value: number): number | undefined {
  if (parameter === SETTING.enablePush && value > 1) return ERROR.protocolError
  if (parameter === SETTING.initialWindowSize && value > MAX_WINDOW) return ERROR.flowControlError
  const isFrameSize = value >= MAX_FRAME_SIZE && value <= LARGEST_FRAME_SIZE
  return parameter === SETTING.maxFrameSize && !isFrameSize ? ERROR.protocolError : undefined
}

function error(errorCode: number): SettingsFault {
  return { errorCode, isLimit: false }
}
