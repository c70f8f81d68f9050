import { expect, test } from 'vitest'
import { inWords, readingError } from './system-errors.ts'

test.each([
  ["ENOENT: no such file or directory, open '/x/y'", '/x/y does not exist. Check the name.'],
  [
    "EACCES: permission denied, scandir '/root'",
    'This user has no permission for /root. Change its permissions, or run the command as another user.',
  ],
  ["ENOTDIR: not a directory, mkdir 'a/b'", 'A part of the path a/b is not a directory. Check the name.'],
  ["EEXIST: file already exists, rename 'a' -> 'b'", 'a exists already. Choose another name.'],
  ['ENOSPC: no space left on device, write', 'The disk of the file is full. Free some space there.'],
  [
    "The directory /x cannot be made: ENOENT: no such file or directory, mkdir '/x'. Choose another.",
    'The directory /x cannot be made: /x does not exist. Choose another.',
  ],
  ['There is no user ENOENT: nobody', 'There is no user ENOENT: nobody'],
])('%s', (message, said) => expect(inWords(message)).toBe(said))

test('an error of reading, which does not name its file, names it', () => {
  const error = new Error('EISDIR: illegal operation on a directory, read')
  expect(readingError('/tmp', error)).toBe('/tmp is a directory, and not a file. Name a file.')
})
