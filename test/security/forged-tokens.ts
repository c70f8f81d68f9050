/** Tokens that others made or changed: with other algorithms, known keys, other key ids, or pieces missing. */
import { createHmac } from 'node:crypto'

const base64 = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const partsOf = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString())) as [
    { kid: string },
    Record<string, unknown>,
  ]

/** A token that is signed as its header says, where that is HMAC. */
function forged(header: object, claims: object, [key, hash = 'sha256']: readonly [Buffer | string, string?]) {
  const signed = `${base64(header)}.${base64(claims)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

/** Keys that servers of this kind came with, or that their documents show. */
const KNOWN_KEYS = [
  'SecretKey012345678901234567890123456789012345678901234567890123456789',
  'VGhpc0lzTXlDdXN0b21TZWNyZXRLZXkwMTIzNDU2Nzg=',
  'nacos',
  'secret',
  '',
].flatMap((key) => [key, Buffer.from(key, 'base64')])

/** Tokens like this one that its server has not made. */
export function forgeriesOf(token: string): string[] {
  const [header, claims] = partsOf(token)
  const [head, payload, signature] = token.split('.') as [string, string, string]
  const far = { ...claims, exp: 4_000_000_000 }
  const algorithms = ['none', 'None', 'NONE', 'nOnE', '', 'HS384', 'HS512', 'RS256', 'ES256', 'EdDSA', null]
  const kids = [
    header.kid,
    undefined,
    '',
    '../../dev/null',
    '/dev/null',
    "' or '1'='1",
    '__proto__',
    0,
    [header.kid],
  ]
  const ownKey = { kty: 'oct', k: Buffer.from('nacos').toString('base64url') }
  return [
    ...algorithms.flatMap((alg) => [
      `${base64({ ...header, alg })}.${payload}.`,
      `${base64({ ...header, alg })}.${payload}.${signature}`,
    ]),
    ...kids.flatMap((kid) => KNOWN_KEYS.map((key) => forged({ alg: 'HS256', kid }, far, [key]))),
    ...KNOWN_KEYS.map((key) => forged({ alg: 'HS256', typ: 'JWT' }, { sub: 'nacos', exp: 4e9 }, [key])),
    ...KNOWN_KEYS.map((key) => forged({ alg: 'HS512', kid: header.kid }, far, [key, 'sha512'])),
    forged({ ...header, jwk: ownKey }, far, ['nacos']),
    forged({ ...header, jku: 'http://127.0.0.1:1/keys', x5u: 'http://127.0.0.1:1/x' }, far, ['nacos']),
    forged({ ...header, crit: ['exp'], b64: false }, far, ['nacos']),
    forged(header, far, [header.kid]),
    `${head}.${base64(far)}.${signature}`,
    `${head}.${payload}`,
    `${head}.${payload}.`,
    `${head}.${payload}.${signature}.`,
    `${head}.${payload}.${signature}${signature}`,
    `${head}.${payload}.${signature.slice(0, -2)}`,
    `.${payload}.${signature}`,
    `${head}..${signature}`,
    `${head}.${payload}.${signature}.${head}.${payload}`,
    `${token}%00`,
    token.toLowerCase(),
    'null',
    'undefined',
    'true',
    '{}',
    '*',
  ]
}
