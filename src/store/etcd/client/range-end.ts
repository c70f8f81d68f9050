/** The end of the range of all keys that begin with the prefix, which is text whose last character is ASCII. */
export function prefixEnd(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1)
  if (!(last < 0x7f)) throw new Error(`A prefix of keys ends with an ASCII character; this one is ${prefix}`)
  return prefix.slice(0, -1) + String.fromCharCode(last + 1)
}
