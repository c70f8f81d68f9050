import { randomBytes, randomUUID } from 'node:crypto'
import type { NewKey } from '../core/access/signing-key-commands.ts'

/** A new key that signs tokens: 256 random bits. */
export function newSigningKey(): NewKey {
  return { id: randomUUID(), secret: randomBytes(32).toString('base64url') }
}
