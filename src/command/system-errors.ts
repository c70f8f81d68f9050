/** The meaning of a code of the operating system for a file, and advice. */
interface Meaning {
  readonly of: (path: string) => string
  readonly advice: string
}

const NO_PERMISSION: Meaning = {
  of: (path) => `this user has no permission for ${path}`,
  advice: 'Change its permissions, or run the command as another user.',
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOENT: { of: (path) => `${path} does not exist`, advice: 'Check the name.' },
  ENOTDIR: { of: (path) => `a part of the path ${path} is not a directory`, advice: 'Check the name.' },
  EISDIR: { of: (path) => `${path} is a directory, and not a file`, advice: 'Name a file.' },
  EEXIST: { of: (path) => `${path} exists already`, advice: 'Choose another name.' },
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: { of: (path) => `the file system of ${path} is read-only`, advice: 'Choose another place.' },
  ENOSPC: { of: (path) => `the disk of ${path} is full`, advice: 'Free some space there.' },
  ELOOP: { of: (path) => `the links of ${path} go in a circle`, advice: 'Check the name.' },
  ENAMETOOLONG: { of: (path) => `the name ${path} is too long`, advice: 'Choose a shorter one.' },
}

/** The text that Node.js gives an error of a file: `ENOENT: no such file or directory, open '/x'`. */
const RAW = /\b(E[A-Z]+): [a-z ,()-]+, [a-z]+(?: '([^']*)')?(?: -> '[^']*')?/

/** A text with errors of files in plain words. A text that is only such an error becomes a sentence with advice. */
export function inWords(message: string): string {
  const [raw, code, path = 'the file'] = RAW.exec(message) ?? []
  const meaning = MEANINGS[code ?? '']
  if (raw === undefined || meaning === undefined) return message
  const { of, advice } = meaning
  const words = of(path)
  if (raw !== message) return message.replace(raw, () => words)
  const isName = words.startsWith(path) && path !== 'the file'
  return `${isName ? words : words[0]!.toUpperCase() + words.slice(1)}. ${advice}`
}

/** Why a file cannot be read, as a sentence. Errors of reading do not name their file. */
export function readingError(file: string, { message }: Error): string {
  const named = message.includes("'") ? message : `${message} '${file}'`
  return inWords(named)
}
