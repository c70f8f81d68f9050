import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** One instruction of a Dockerfile: `RUN npm ci` is RUN with `npm ci`. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions of a Dockerfile. Comments and continued lines are read; heredocs and parser directives are not. */
export function readDockerfile(file: string): Instruction[] {
  const text = readFileSync(file, 'utf8')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? []
      if (name === '') throw new Error(`Not an instruction: ${line}`)
      return { name, text: rest }
    })
}

/** What a .dockerignore of the form "nothing but these" lets through. */
export function readDockerignore(file: string): ReadonlySet<string> {
  const [first, ...others] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (first !== '*' || others.some((line) => !line.startsWith('!')))
    throw new Error('This .dockerignore has another form than * and exceptions')
  return new Set(others.map((line) => line.slice(1)))
}

/** A stage of a build, with a directory as the file system of its image. */
export interface Stage {
  readonly root: string
  readonly env: Record<string, string>
  workdir: string
  user: string
  healthcheck: readonly string[]
  entrypoint: readonly string[]
  command: readonly string[]
  readonly volumes: string[]
}

/** What a build copies from, where it works, and what runs the lines of RUN. */
export interface BuildOptions {
  readonly context: string
  readonly included: ReadonlySet<string>
  readonly directory: string
  run(line: string, stage: Stage): void
}

/** Carries out the instructions without a container; answers the last stage. */
export function buildStages(instructions: readonly Instruction[], options: BuildOptions): Stage {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const { name, text } of instructions) {
    if (name === 'FROM') {
      const [, as = 'last'] = / AS (\w+)$/.exec(text) ?? []
      stage = newStage(join(options.directory, as))
      stages.set(as, stage)
    } else if (stage === undefined) throw new Error(`${name} before FROM`)
    else follow({ name, text }, { stage, stages, options })
  }
  if (stage === undefined) throw new Error('No FROM')
  return stage
}

function newStage(root: string): Stage {
  mkdirSync(root, { recursive: true })
  return {
    root,
    env: {},
    workdir: '/',
    user: 'root',
    healthcheck: [],
    entrypoint: [],
    command: [],
    volumes: [],
  }
}

interface Building {
  readonly stage: Stage
  readonly stages: ReadonlyMap<string, Stage>
  readonly options: BuildOptions
}

function follow({ name, text }: Instruction, building: Building): void {
  const { stage, options } = building
  switch (name) {
    case 'WORKDIR':
      stage.workdir = text
      mkdirSync(join(stage.root, text), { recursive: true })
      return
    case 'ENV': {
      const [key = '', value = ''] = text.split('=')
      stage.env[key] = value
      return
    }
    case 'COPY':
      copy(text, building)
      return
    case 'RUN':
      options.run(text, stage)
      return
    case 'USER':
      stage.user = text
      return
    case 'VOLUME':
      stage.volumes.push(text)
      return
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(text.slice(text.indexOf('CMD') + 3)) as string[]
      return
    case 'ENTRYPOINT':
      stage.entrypoint = JSON.parse(text) as string[]
      return
    case 'CMD':
      stage.command = JSON.parse(text) as string[]
      return
    case 'EXPOSE':
    case 'STOPSIGNAL':
      return
    default:
      throw new Error(`${name} is not simulated`)
  }
}

function copy(text: string, { stage, stages, options }: Building): void {
  const words = text.split(/\s+/)
  const from = words[0]?.startsWith('--from=') === true ? words.shift()!.slice('--from='.length) : undefined
  const to = words.pop()!
  const source = from === undefined ? options.context : stages.get(from)!.root
  for (const word of words) {
    if (from === undefined && !isIncluded(options.included, word))
      throw new Error(`${word} is not in the context`)
    // A directory is copied as what is in it, a file into the directory.
    const target = to.endsWith('/') ? join(to, basename(word)) : to
    cpSync(join(source, word), join(stage.root, stage.workdir, target), { recursive: true })
  }
}

/** Whether the path or a directory that it is in is part of the context. */
function isIncluded(included: ReadonlySet<string>, path: string): boolean {
  return [...included].some((name) => path === name || path.startsWith(`${name}/`))
}
