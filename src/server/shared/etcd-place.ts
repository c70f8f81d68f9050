import { readFileSync } from 'node:fs'
import { ETCD_PASSWORD, SECRETS_KEYS, type Settings } from '../../settings/settings.ts'
import type { EtcdAccess } from '@waypost/etcd-client/connection'
import { DamagedStore } from '../../store/local-file.ts'
import { readSecretsKeys, type SecretsKey } from '../../store/etcd/sealing/secrets-keys.ts'

/** The place of etcd, and the credentials of this server. */
export interface EtcdPlace {
  readonly endpoints: readonly string[]
  readonly prefix: string
  readonly access: EtcdAccess
  /** The keys that seal secrets there. */
  readonly secretsKeys: readonly SecretsKey[]
}

/** The settings for it. */
type EtcdSettings = Pick<
  Settings,
  | 'etcdEndpoints'
  | 'etcdPrefix'
  | 'etcdUser'
  | 'etcdPasswordFile'
  | 'etcdCa'
  | 'etcdCert'
  | 'etcdKey'
  | 'secretsKeyFile'
>

/** The place that the settings name. Throws an Error if they do not fit together. */
export function etcdPlaceOf(settings: EtcdSettings, env: NodeJS.ProcessEnv): EtcdPlace {
  const { etcdEndpoints: endpoints, etcdPrefix: prefix, etcdCa: ca, etcdCert: cert, etcdKey: key } = settings
  const isSecure = endpoints.some((endpoint) => endpoint.startsWith('https:'))
  if (isSecure && endpoints.some((endpoint) => endpoint.startsWith('http:')))
    throw new Error('etcd-endpoints names members with TLS and without: use https for all of them.')
  if (!isSecure && `${ca}${cert}${key}` !== '')
    throw new Error(
      'etcd-ca, etcd-cert and etcd-key are for members with TLS: their etcd-endpoints begin with https.',
    )
  if ((cert === '') !== (key === ''))
    throw new Error('A certificate for etcd needs its key: set both etcd-cert and etcd-key.')
  const tls = { ...(ca !== '' && { ca }), ...(cert !== '' && { cert, key }) }
  const secretsKeys = secretsKeysOf(settings, env)
  return { endpoints, prefix, access: { tls, ...userOf(settings, env) }, secretsKeys }
}

/** The keys of the file, or of the environment; empty: secrets are not sealed. Throws an Error if they cannot be read. */
function secretsKeysOf(
  { secretsKeyFile: file }: Pick<Settings, 'secretsKeyFile'>,
  env: NodeJS.ProcessEnv,
): readonly SecretsKey[] {
  const given = env[SECRETS_KEYS] ?? ''
  if (file !== '') return readSecretsKeys(textOf(file), `The file ${file} of secrets-key-file`)
  return given === '' ? [] : readSecretsKeys(given, SECRETS_KEYS)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`The file of secrets-key-file cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function userOf(
  { etcdUser: name, etcdPasswordFile: file }: EtcdSettings,
  env: NodeJS.ProcessEnv,
): Pick<EtcdAccess, 'user'> {
  const given = env[ETCD_PASSWORD] ?? ''
  if (name === '') {
    if (file !== '') throw new Error('etcd-password-file needs the name of the user: set etcd-user.')
    return {}
  }
  if (file === '' && given === '')
    throw new Error(`The user of etcd-user needs a password: set etcd-password-file, or ${ETCD_PASSWORD}.`)
  const password = (): string => (file === '' ? given : readFileSync(file, 'utf8').replace(/\r?\n$/, ''))
  return { user: { name, password } }
}

/** The error for a value in etcd that no server writes. */
export function unreadableRecord(prefix: string, cause: SyntaxError): DamagedStore {
  return new DamagedStore(
    `A value in etcd, prefix ${prefix}, is damaged: ${cause.message}. \`waypost doctor --store etcd\` says which one.`,
    { cause },
  )
}
