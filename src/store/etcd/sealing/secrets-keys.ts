import { createHash } from 'node:crypto'

/** A key that seals secrets. */
export interface SecretsKey {
  /** Its name in the file and eight digits of its digest, which distinguish keys of the same name: `2026-11.1f3c9a77`. */
  readonly id: string
  /** 32 bytes, for AES-256-GCM. */
  readonly bytes: Buffer
}

const KEY_BYTES = 32
const DIGEST_DIGITS = 8
/** A name, and 32 bytes in base64 or base64url. */
const LINE = /^([A-Za-z0-9][\w-]{0,31})\s+([\w+/-]{43}=?)$/

/**
 * Reads keys, each on a line with its name before it, or all on one line with commas between them. Empty lines and lines
 * with `#` are skipped. Throws an Error that names the line and never shows it. `origin`: the source of the text.
 */
export function readSecretsKeys(text: string, origin: string): readonly SecretsKey[] {
  const keys = text
    .split(/[\n,]/)
    .flatMap((line, index) => readLine(line.trim(), `${origin}, line ${index + 1}`))
  if (keys.length === 0) throw new Error(`${origin} has no key. ${HOW}`)
  const names = keys.map(({ id }) => id.split('.')[0])
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`${origin} has two keys of the name ${twice}.`)
  return keys
}

const HOW =
  'A line is a name and 32 random bytes in base64, for example: echo "first $(openssl rand -base64 32)"'

function readLine(line: string, origin: string): SecretsKey[] {
  if (line === '' || line.startsWith('#')) return []
  const [, name, encoded] = LINE.exec(line) ?? []
  const bytes = encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
  if (bytes?.length !== KEY_BYTES) throw new Error(`${origin}: this is no key. ${HOW}`)
  const digest = createHash('sha256').update('waypost secrets key ').update(bytes).digest('hex')
  return [{ id: `${name}.${digest.slice(0, DIGEST_DIGITS)}`, bytes }]
}
