import { boolean, oneOf, wordOrBare } from './kinds.ts'
import { DAY, type Definition, durationSetting, HOUR, SECOND, textSetting } from './setting.ts'

/** Whether callers must sign in. */
const AUTH_MODES = ['auto', 'on', 'off', 'report'] as const

/** Whether new passwords are judged. */
const PASSWORD_RULES = ['on', 'off'] as const

/** Settings of sign-in, passwords, tokens and TLS. */
export const signInDefinitions = {
  auth: {
    name: 'auth',
    kind: wordOrBare(AUTH_MODES, 'on'),
    default: 'auto' as (typeof AUTH_MODES)[number],
    shownDefault: 'auto',
    meaning: 'Whether callers must sign in: on, off, report (only log refusals) or auto.',
    detail:
      '`auto` is on once the store has an administrator, and off before. `--auth` alone means on. See docs/security.md.',
  },
  openToEveryone: {
    name: 'open-to-everyone',
    kind: boolean(),
    default: false as boolean,
    shownDefault: 'false',
    meaning: 'With authentication off, listen on other addresses than loopback all the same.',
    detail: 'Everybody who reaches such an address may then read, change and delete everything.',
  },
  passwordRule: {
    name: 'password-rule',
    kind: oneOf(PASSWORD_RULES),
    default: 'on' as (typeof PASSWORD_RULES)[number],
    shownDefault: 'on',
    meaning: 'Whether new passwords must be hard to guess: on, or off for tools that set short ones.',
    detail:
      'On: at least 10 characters, 5 different ones, not made of the username or `waypost`, and not among the commonest passwords. Passwords that are there already count as before.',
  },
  tokenTtlMs: durationSetting('token-ttl', {
    default: 5 * HOUR,
    min: SECOND,
    max: 365 * DAY,
    meaning: 'How long an access token counts.',
  }),
  acceptTokenSecret: textSetting('accept-token-secret', {
    default: '',
    meaning: 'A file with the secret that signed the tokens of the server from which this one takes over.',
    detail:
      'Its tokens count until `accept-token-until`, for users of this server who are no administrators. See docs/security.md.',
  }),
  acceptTokenUntil: textSetting('accept-token-until', {
    default: '',
    meaning: 'Until when such tokens count, at most 7 days ahead: 2026-05-31T18:00:00Z.',
    detail: 'After that time a start ignores the secret, and logs it.',
  }),
  tlsCert: textSetting('tls-cert', {
    default: '',
    meaning: 'A PEM file with the certificate of the server and its chain. With it, clients speak HTTPS.',
    detail: 'The TLS files are read again when they change, without a restart. See docs/operations.md.',
  }),
  tlsKey: textSetting('tls-key', {
    default: '',
    meaning: 'The PEM file with the private key of `tls-cert`.',
  }),
  tlsClientCa: textSetting('tls-client-ca', {
    default: '',
    meaning: 'A PEM file with the authorities whose client certificates name users.',
    detail:
      'A client may then show a certificate instead of signing in: the common name of its subject is the name of the user.',
  }),
} satisfies Readonly<Record<string, Definition<unknown>>>
