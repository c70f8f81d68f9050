import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A processor profile of V8, as far as it is read. */
export interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** The time before each sample, µs. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: CallFrame
  readonly children?: readonly number[]
}

/** A function in its file; lines and columns are counted from 0. */
export interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
  readonly columnNumber: number
}

/** A profile of one thread, and the processor time that it has used meanwhile. */
export interface ThreadProfile {
  readonly profile: Profile
  readonly usedUs: number
}

/** The profiles of a server: of its main thread, and of its other threads with JavaScript. */
export interface ServerProfile {
  readonly main: ThreadProfile
  readonly others: readonly ThreadProfile[]
}

/** The functions that were running, the innermost one first, and for how long. */
export interface Stack {
  readonly frames: readonly CallFrame[]
  readonly us: number
}

/** The stacks of a profile with their own time. */
export function stacksOf({ nodes, samples, timeDeltas }: Profile): Stack[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const usById = new Map<number, number>()
  for (const [at, id] of samples.entries()) usById.set(id, (usById.get(id) ?? 0) + (timeDeltas[at + 1] ?? 0))
  return [...usById].map(([id, us]) => {
    const frames: CallFrame[] = []
    for (let one: number | undefined = id; one !== undefined; one = parents.get(one))
      frames.push(byId.get(one)!.callFrame)
    return { frames, us }
  })
}

/** Finds the source of functions in bundled files, by the source maps beside them. */
export class Sources {
  readonly #maps = new Map<string, SourceMap | undefined>()

  /** The function with its file: `src/feed/feed.ts#deliver`, `node:net#connect`, or only its name if it has no file. */
  nameOf({ functionName, url, lineNumber, columnNumber }: CallFrame): string {
    const source = url === '' ? undefined : this.#mapOf(url)?.findEntry(lineNumber, columnNumber)
    const file = source !== undefined && 'originalSource' in source ? String(source.originalSource) : url
    return file === ''
      ? functionName
      : `${file.replace(/^.*?(?=(?:packages\/[^/]+\/)?src\/|node_modules\/)/, '')}#${functionName}`
  }

  #mapOf(url: string): SourceMap | undefined {
    if (this.#maps.has(url)) return this.#maps.get(url)
    const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : ''
    const map = existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined
    this.#maps.set(url, map)
    return map
  }
}
