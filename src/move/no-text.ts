import { isUtf8 } from 'node:buffer'

/** Stands for bytes that are no text in UTF-8: no text that is read is a lone surrogate. */
const NO_TEXT = '\udc00'

/** The text of a column of bytes. */
export function textOfBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : NO_TEXT
}

/** Whether a value was read as a text. Others must not come, because they would be other texts then. */
export function isText(value: string): boolean {
  return value !== NO_TEXT
}
