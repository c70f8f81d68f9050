import type { SentJson } from './json.ts'

/** A JSON object that is sent, as its text. */
export function textOf({ own, shared }: SentJson): string {
  return Buffer.concat([...own, ...shared].map((piece) => Buffer.from(piece as string))).toString()
}
