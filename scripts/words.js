/**
 * `npm run words`: counts what makes comments and documents hard to read (CONTRIBUTING.md, "How we write"). With `--list` it
 * shows each place. Other arguments choose files by a part of their path. Fails where there is a place.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, ensureInstalled, root } from './prepare.js'

const MOST_WORDS = 25
const LONG = `longer than ${MOST_WORDS} words`

/** The pattern of each kind. The lookaheads leave out the usual senses: "no more than 3", "it stands for a list". */
const KINDS = {
  [LONG]: new RegExp(`^(?:\\W*\\w\\S*\\s+){${MOST_WORDS}}.*\\w`, 'g'),
  told: /\b(?:un)?told\b(?! apart)/gi,
  anew: /\banew\b/gi,
  'hear of data': /(?<!\blast )\b(?:hears?|heard|hearing)\b/gi,
  'goes on': /\b(?:go|goes|going|went) on\b/gi,
  stands: /\b(?:stands?|stood)\b(?!-| (?:for|still|alone|out)\b)/gi,
  'no more': /\bno more\b(?! than| (?!is\b|was\b|has\b)\w+s\b)/gi,
  'begins with “Of”': /^Of /g,
  'begins with “Whoever”': /^(?:Whoever|Who|Whom|Whose) (?!has it).*\.$/g,
  'begins with “What is told of”': /^What (?:is|was) (?:told|said) /g,
  'pronouns without a noun': /\b(?:those that|that of|of them|none of those)\b/gi,
}

await ensureInstalled()
// The API document is one of the files that a build makes.
await build()
const { parseSync } = await import('oxc-parser')
const args = process.argv.slice(2)
const isListed = args.includes('--list')
const chosen = args.filter((arg) => !arg.startsWith('--'))

const found = {
  comments: filesIn(['src', 'packages', 'console/src'], /\.tsx?$/).flatMap(inComments),
  documents: [...filesIn(['docs'], /\.md$/), 'README.md', 'CONTRIBUTING.md', 'SECURITY.md']
    .filter(isChosen)
    .flatMap(inDocument)
    .concat(['dist/openapi.json'].filter(isChosen).flatMap(inApiDocument)),
}
for (const [where, places] of Object.entries(found)) report(where, places)

function report(where, places) {
  if (isListed)
    for (const { file, line, kind, text } of places) console.log(`${file}:${line}: ${kind}: ${text}`)
  const counts = Object.keys(KINDS).map((kind) => [
    kind,
    places.filter((place) => place.kind === kind).length,
  ])
  console.log(`${where}: ${counts.map(([kind, count]) => `${kind} ${count}`).join(', ')}`)
  for (const [kind, count] of counts) {
    if (count === 0) continue
    process.exitCode = 1
    console.log(`${where}: ${count} places (${kind}), where none is allowed: npm run words -- --list`)
  }
}

function filesIn(folders, name) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
  )
  return files.filter((file) => name.test(file) && isChosen(file)).toSorted()
}

function isChosen(file) {
  return chosen.length === 0 || chosen.some((part) => file.includes(part))
}

/** The places in the comments of a file. Comments of one line that follow each other are one text. */
function inComments(file) {
  const source = readFileSync(join(root, file), 'utf8')
  const blocks = []
  let last
  for (const { type, value, start, end } of parseSync(file, source).comments) {
    const isNext = last?.type === 'Line' && type === 'Line' && /^\s*$/.test(source.slice(last.end, start))
    if (isNext) Object.assign(last, { text: `${last.text} ${value}`, end })
    else blocks.push((last = { type, text: value, start, end }))
  }
  return blocks
    .filter(({ text }) => !/^\s*(?:oxlint|@ts|#__)/.test(text))
    .flatMap(({ text, start }) => inText({ file, source, at: start }, text.replaceAll(/^\s*\*/gm, ' ')))
}

/** The places in the paragraphs, list items and table cells of a document, without its blocks of code. */
function inDocument(file) {
  const source = readFileSync(join(root, file), 'utf8').replaceAll(/^\s*```[\s\S]*?^\s*```/gm, (code) =>
    code.replaceAll(/[^\n]/g, ' '),
  )
  const places = []
  let at = 0
  for (const block of source.split(/(\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?))/)) {
    for (const cell of block.split(/(?<!\\)\|/))
      places.push(...inText({ file, source, at }, cell.replace(/^\s*(?:[-*#>]+|\d+\.)\s/, '')))
    at += block.length
  }
  return places
}

/** The places in the descriptions of operations and fields. Operations of one path and method are joined with "; or: ". */
function inApiDocument(file) {
  const source = readFileSync(join(root, file), 'utf8')
  return [...source.matchAll(/"(?:description|summary)":("(?:[^"\\]|\\.)*")/g)].flatMap(
    ({ 1: text, index }) => inText({ file, source, at: index }, JSON.parse(text).replaceAll('; or: ', '. ')),
  )
}

/** The places in a text that begins at `at` in the source of a file. */
function inText({ file, source, at }, text) {
  return sentencesOf(text).flatMap((sentence) =>
    Object.entries(KINDS).flatMap(([kind, pattern]) =>
      [...sentence.matchAll(pattern)].map(({ index }) => ({
        file,
        line: lineOf(source, at),
        kind,
        text: kind === LONG ? sentence : sentence.slice(Math.max(0, index - 30), index + 50),
      })),
    ),
  )
}

/** Code is `x` here, and so is a list of code: names are read at a glance. Code in brackets, a place to look at, is left out. */
function sentencesOf(text) {
  return text
    .replaceAll(/\{@link ([^}]*)\}/g, '`$1`')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`]*`/g, '`')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/`(?:,? (?:and |or )?`)+/g, '`')
    .replaceAll(/ \(`\)/g, '')
    .replaceAll('`', 'x')
    .replaceAll(/\b(e\.g|i\.e|etc|vs)\./g, '$1')
    .replaceAll(/[*_]{1,2}(?=\w)|(?<=[\w.!?,:])[*_]{1,2}/g, '')
    .trim()
    .split(/(?<=[.!?]\)?)\s|\s\|\s/)
}

function lineOf(source, at) {
  return source.slice(0, at).split('\n').length
}
