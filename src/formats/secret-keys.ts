const KEY =
  /pass[-_.]?words?|passwd|pass[-_.]?phrases?|pass[-_.]?codes?|pwd|secrets?|tokens?|credentials?|(?:private|api|access|sign(?:ing)?|encrypt(?:ion)?|master|shared|account)[-_.]?keys?/gi

/** Words behind such a word: the key is about a secret, and its value is none. */
const ABOUT = new Set(
  (
    'encoder encoders encoding encryptor encryption encrypted policy policies length min max expire expires expired expiry expiration ' +
    'exp ttl timeout timeouts validity valid lifetime duration age seconds second minutes hours days millis ms interval count limit ' +
    'limits size type types name names url urls uri uris endpoint endpoints path paths file files location header headers param ' +
    'params parameter parameters prefix suffix enable enabled disable disabled required reset strength rule rules pattern regex ' +
    'format field fields store provider providers service class algorithm alg issuer audience scheme method grant rotation cache ' +
    'generator validator validation validate manager factory handler filter resolver converter bucket budget usage window ary izer ize ' +
    'ized izing ization less version hint label per mode strategy attempts retries history support column'
  ).split(' '),
)
/** Words before `tokens`: they are counted. */
const COUNTED = new Set(
  'max min num number count total avg limit budget completion prompt input output per'.split(' '),
)

/** Whether a key, or the path of keys, names something that people nearby should not read. */
export const isSecretKey = (path: string): boolean => judged(path, 'none') !== 'none'

/**
 * The kind of the secret that a value is, by its key. `several`: a collection of secrets, whatever their keys; `one`: a key below may
 * say that it is only about the secret, such as `token.expiry`.
 */
export type Secrecy = 'none' | 'one' | 'several'

/** The secrecy of a value below one of this secrecy. */
export function judged(key: string, above: Secrecy): Secrecy {
  let last: RegExpExecArray | undefined
  for (const match of key.matchAll(KEY)) last = match
  if (last === undefined) return above === 'one' && isAbout(key) ? 'none' : above
  if (above === 'several') return above
  const [word] = last
  if (isAbout(key.slice(last.index + word.length))) return 'none'
  if (/^tokens$/i.test(word) && wordsOf(key.slice(0, last.index)).some((one) => COUNTED.has(one)))
    return 'none'
  return /s$/i.test(word) ? 'several' : 'one'
}

const isAbout = (rest: string): boolean => wordsOf(rest).some((word) => ABOUT.has(word))

const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z\d])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z]+/)
