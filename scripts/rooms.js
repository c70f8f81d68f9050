/**
 * The rooms of src and of the console, for `npm run check` (scripts/modules.js) and test/layers.test.ts. A room is a folder of src. The line
 * "May import" of its README.md names the other rooms that its files import: no more, no fewer. No room imports itself by way of others. For the folders
 * inside, and for packages, see scripts/layers.js.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { targetOf } from './module-graph.js'
import { root } from './prepare.js'

const MOST_LINES = 12
const MAY_IMPORT = /^\*\*May import\*\*: (.*)\.$/m

/** The rooms of the console, from the bottom up: a room imports only from rooms in earlier places. */
const CONSOLE = [
  'style',
  'server',
  'workers',
  'state',
  'language',
  'live',
  'routing',
  'charts',
  'controls',
  'editor',
  'publishing',
  'access',
  'connect',
  'audit',
  'gray',
  'configs',
  'services',
  'operator',
  'namespaces',
  'home',
  'sign-in',
  'frame',
  'main.tsx',
]

/** The faults of the rooms of these modules of the project. */
export function roomFaults(modules) {
  const { arrows, rooms } = arrowsBetween(modules, 'src')
  const allowed = new Map(rooms.map((room) => [room, readmeOf(room)]))
  return [
    ...rooms.flatMap((room) => readmeFaults(room, allowed.get(room), arrows.get(room))),
    ...arrowsUp(arrowsBetween(modules, 'console/src').arrows, CONSOLE, 'console/src'),
    ...circles(arrows),
  ]
}

/** The rooms of a folder, and the other rooms that each imports. Tests do not count. */
function arrowsBetween(modules, folder) {
  const arrows = new Map()
  for (const [file, { imports }] of modules) {
    if (!file.startsWith(`${folder}/`) || /\.test(-support)?\.tsx?$/.test(file)) continue
    const room = roomOf(file, folder)
    const others = arrows.get(room) ?? arrows.set(room, new Set()).get(room)
    for (const name of imports) {
      const target = targetOf(file, name)
      if (name.startsWith('.') && target.startsWith(`${folder}/`) && roomOf(target, folder) !== room)
        others.add(roomOf(target, folder))
    }
  }
  return { arrows, rooms: [...arrows.keys()] }
}

function roomOf(file, folder) {
  return file.slice(folder.length + 1).split('/')[0]
}

function readmeOf(room) {
  const file = join(root, 'src', room, 'README.md')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** The faults of a room whose README has this text, and which imports these rooms. */
export function readmeFaults(room, readme, imported) {
  if (readme === undefined) return [`src/${room}: no README.md says what it is`]
  const [, names] = MAY_IMPORT.exec(readme) ?? []
  if (names === undefined) return [`src/${room}/README.md has no line "**May import**: …."`]
  const allowed = names === 'nothing' ? [] : names.split(', ').map((name) => name.replaceAll('`', ''))
  return [
    ...(readme.trimEnd().split('\n').length > MOST_LINES
      ? [`src/${room}/README.md is longer than ${MOST_LINES} lines`]
      : []),
    ...[...imported]
      .filter((name) => !allowed.includes(name))
      .map((name) => `src/${room} may not import ${name}`),
    ...allowed
      .filter((name) => !imported.has(name))
      .map((name) => `src/${room}/README.md: it does not import ${name}`),
  ]
}

/** Imports of a room from a later one, and rooms that the order does not name. */
export function arrowsUp(arrows, order, folder) {
  return [...arrows].flatMap(([room, others]) => {
    if (!order.includes(room)) return [`${folder}/${room}: scripts/rooms.js has no place for it`]
    const upper = [...others].filter((other) => order.indexOf(other) > order.indexOf(room))
    return upper.map((other) => `${folder}/${room} imports ${other}, which is above it`)
  })
}

/** Rooms that import each other, directly or by way of others. */
export function circles(arrows) {
  const left = new Map(arrows)
  for (let before = Infinity; left.size < before;) {
    before = left.size
    for (const [room, others] of left) if (![...others].some((other) => left.has(other))) left.delete(room)
  }
  return [...left.keys()].map((room) => `src/${room} imports itself by way of others`)
}
