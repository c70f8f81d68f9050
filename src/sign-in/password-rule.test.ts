import { expect, test } from 'vitest'
import { requireStrong } from './password-rule.ts'

test.each([
  ['too short', 'ann', 'short', /at least 10 characters/],
  ['too short in letters of two units', 'ann', '🙂🙂🙂🙂🙂', /at least 10 characters/],
  ['the name of the user', 'administrator', 'administrator', /besides the name/],
  ['the name of the user in capitals', 'administrator', 'ADMINISTRATOR', /besides the name/],
  ['the name of the user again and again', 'bob', 'BOBBOBBOBBOB', /different characters/],
  ['one character', 'ann', 'aaaaaaaaaa', /different characters/],
  ['blanks', 'ann', '         a', /different characters/],
  ['made of the name of the user', 'catherine', 'Catherine1!', /besides the name/],
  ['made of the name of the product', 'ann', 'waypost123', /besides the name/],
  ['made of names', 'ann', 'Nacos@1234', /besides the name/],
  ['made of a name twice', 'ann', 'nacosnacos', /besides the name/],
  ['among the commonest', 'ann', 'password123', /among the commonest/],
  ['among the commonest, in capitals', 'ann', 'Qwerty123456', /among the commonest/],
])('a new password that is %s is refused', async (...[, username, password, message]) => {
  await expect(requireStrong({ username, password })).rejects.toThrow(message)
  await expect(requireStrong({ username, password })).rejects.toMatchObject({ code: 'weak-password' })
})

test.each(['correct horse', 'xK9-wT2-pL', '十个字符的密码是可以用', '__proto__ __proto__', 'constructor'])(
  'the password %s is taken',
  async (password) => expect(requireStrong({ username: 'ann', password })).resolves.toBeUndefined(),
)
