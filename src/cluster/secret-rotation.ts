import { newSecretText } from './peer-secret.ts'
import { type SecretsStore, readSecrets, secretsText, STORED_SECRETS, withNext } from './shared-secrets.ts'

/** How a rotation begins. `underway`: another one has begun before; `none`: no server has made a secret yet. */
export type Beginning = 'begun' | 'underway' | 'none'

const MOST_TRIES = 3

/** Gives the servers the next secret. They take it into use by themselves. */
export async function beginRotation(store: SecretsStore): Promise<Beginning> {
  for (let tries = 1; ; tries++) {
    const seen = await store.seen(STORED_SECRETS)
    if (seen === undefined) return 'none'
    const next = withNext(readSecrets(seen.value), newSecretText())
    if (next === undefined) return 'underway'
    if (await store.replace(STORED_SECRETS, seen, secretsText(next))) return 'begun'
    if (tries === MOST_TRIES) throw new Error('The secret is changed by others again and again.')
  }
}
