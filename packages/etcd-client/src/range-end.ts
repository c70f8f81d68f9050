/** The end of the range of all keys with the prefix. The last character of the prefix must be ASCII. */
export function prefixEnd(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1)
  if (!(last < 0x7f)) throw new Error(`A prefix of keys ends with an ASCII character; this one is ${prefix}`)
  return prefix.slice(0, -1) + String.fromCharCode(last + 1)
}
