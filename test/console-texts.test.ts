/** All that the console says is in its two tables of texts, and the tables know what the server says. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import { en } from '../console/src/language/en.ts'
import { phraseZhCn, zhCn } from '../console/src/language/zh-cn.ts'
import type { RefusalCode } from '../src/core/refusal.ts'
import { REFUSALS } from '../src/protocols/refusals/refusals.ts'
import { apiDocument } from '../src/server/doors/api-document.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.includes('.test'))
    .map((name) => join(folder, name))

/** Words that are the same in every language: names of things that people type or copy. */
const NAMES = new Set([
  'ID',
  'IP',
  'MD5',
  'English',
  'Waypost',
  'Esc',
  'server.port',
  'DEFAULT_GROUP',
  'zone=a',
  'nacos',
  // The name of a key in `aria-keyshortcuts`.
  'Control+K',
])
/** Texts that the console that people know has in English too. */
const SAME = ['group', 'dataId']
const SHOWN_ATTRIBUTES = new Set(['label', 'title', 'placeholder', 'aria-label', 'alt', 'hint', 'done'])

const isText = (value: unknown): value is string =>
  typeof value === 'string' && /\p{L}{2}/u.test(value.trim())

function literalsOf(file: string): string[] {
  const found: string[] = []
  const take = (value: unknown): void => {
    if (isText(value) && !NAMES.has(value.trim())) found.push(`${file}: ${value.trim()}`)
  }
  new Visitor({
    JSXText: ({ value }) => take(value),
    JSXAttribute: ({ name, value }) => {
      if (name.type === 'JSXIdentifier' && SHOWN_ATTRIBUTES.has(name.name) && value?.type === 'Literal')
        take(value.value)
    },
    JSXExpressionContainer: ({ expression }) => {
      if (expression.type === 'ConditionalExpression')
        for (const side of [expression.consequent, expression.alternate])
          if (side.type === 'Literal' && /^\p{Lu}/u.test(String(side.value))) take(side.value)
    },
  }).visit(parseSync(file, readFileSync(join(root, file), 'utf8')).program)
  return found
}

test('no view has texts of its own', () => {
  const files = filesBelow('console/src', /\.tsx$/)
  expect(files.length).toBeGreaterThan(40)
  expect(files.flatMap(literalsOf)).toEqual([])
})

test('every text is in Chinese too, with the same values in it', () => {
  const valuesIn = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([one]) => one).toSorted()
  const keys = Object.keys(en) as (keyof typeof en)[]
  const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)
  expect(keys.filter((key) => `${valuesIn(zhCn[key])}` !== `${valuesIn(en[key])}`)).toEqual([])
  const hasWords = (key: keyof typeof en): boolean => /\p{L}{2}/u.test(en[key].replaceAll(/\{\w+\}/g, ''))
  expect(keys.filter((key) => hasWords(key) && !isChinese(zhCn[key]))).toEqual(SAME)
})

test('every problem of the server has a text', () => {
  // The type has a text for each code of core: without one the console does not compile.
  const problems: Readonly<Record<`problem.${RefusalCode}`, string>> = en
  expect(Object.keys(REFUSALS).filter((code) => !(`problem.${code}` in problems))).toEqual([])
})

test('every operation of the audit has a text', () => {
  const named = ['src/operations', 'src/sign-in', 'src/server', 'src/audit']
    .flatMap((folder) => filesBelow(folder, /\.ts$/))
    .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(/\boperation: '([^']+)'/g)])
    .map(([, name]) => name!)
  expect(named.length).toBeGreaterThan(30)
  expect([...new Set(named)].filter((name) => !(`operation.${name}` in en))).toEqual([])
})

test('every switch says what it means', () => {
  const table = readFileSync(join(root, 'docs', 'switches.md'), 'utf8')
  const switches = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!)
  expect(switches.length).toBeGreaterThan(10)
  expect(switches.filter((name) => !(`switch.${name}` in en))).toEqual([])
})

test('the text of every refusal says what to do after what has happened', () => {
  const silent = Object.keys(REFUSALS).filter((code) => {
    const key = `problem.${code}` as keyof typeof en
    return !/[.:,;] \S/.test(en[key]) || !/[。：:，,；]\S/.test(zhCn[key])
  })
  expect(silent).toEqual([])
})

test('what the server says is allowed is said in Chinese', () => {
  const named = [...apiDocument().matchAll(/"x-allowed":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text]) => JSON.parse(text!) as string,
  )
  const literals = [
    'core/config/state/gray-rule',
    'core/switches/read-switch',
    'core/naming/state/label-selector',
  ]
    .map((file) => readFileSync(join(root, 'src', `${file}.ts`), 'utf8'))
    .flatMap((text) =>
      [...text.matchAll(/(?:\.\w+, |text, |allowed: |^\s+)'([^'\n]+)'[,)]/gm)].map(([, one]) => one!),
    )
  const built = [
    'a whole number (ms) from 1 to 9',
    'at most 64 characters',
    'one of r, w, rw',
    'an integer from 1 to 9',
  ]
  const all = [...new Set([...named, ...literals, ...built])].filter((text) => text.includes(' '))
  expect(all.length).toBeGreaterThan(25)
  expect(
    all.filter(
      (text) => !/\p{Script=Han}/u.test(phraseZhCn(text)) || /\b(?:of|and|the)\b/.test(phraseZhCn(text)),
    ),
  ).toEqual([])
  expect(phraseZhCn('at most 128 characters: letters, digits and _ - . : only')).toBe(
    '最多 128 个字符，只能包含字母、数字和 _ - . :',
  )
})
