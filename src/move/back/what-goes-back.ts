import { nameOf, type PlanLine, type PlanNote, type PlanThing } from '../../plan/plan.ts'
import type { OldKind } from '../old/old-server.ts'
import { lacksSecrets } from './kept-secrets.ts'

/** A kind of server that a plan can be written to by its own interface. */
export type TargetKind = Exclude<OldKind['kind'], 'waypost'>

/** The things that such servers take. */
export type GoingThing = Extract<PlanThing, { kind: 'namespace' | 'config' | 'service' | 'instance' }>

/** The thing in the form that such a server accepts; undefined if it accepts nothing of it. */
export function goingThing(thing: PlanThing, target: TargetKind): GoingThing | undefined {
  return linesGoingBack(thing, target).find((line): line is GoingThing => line.kind === thing.kind)
}

/** The lines of a plan for such a server: the things that it accepts, and a note for each other thing. */
export function linesGoingBack(line: PlanLine, target: TargetKind): PlanLine[] {
  switch (line.kind) {
    case 'namespace':
      return target === 'r-nacos' && line.desc !== '' ? [line, remark(line, 'its description')] : [line]
    case 'config':
      return configLines(line, target)
    case 'service':
      return serviceLines(line, target)
    case 'instance':
      return line.ephemeral
        ? [cannotGo(line, 'clients register by themselves where they are sent to')]
        : [line]
    case 'user':
      return [cannotGo(line, 'no server shows a hash that this one could take: make the user there')]
    case 'role':
    case 'permission':
      return [cannotGo(line, 'its users are made there, and their roles and permissions with them')]
    case 'switch':
      return [cannotGo(line, 'it is set at each server by its operator')]
    case 'gray':
      return [cannotGo(line, 'publish beta and gray versions there again')]
    case 'history':
      return [cannotGo(line, 'no server takes records of history over HTTP')]
    case 'remark':
      return isSaid(line) ? [] : [line]
    case 'plan':
    case 'end':
    case 'conflict':
    case 'cannot-come':
      return [line]
  }
}

/** Why a user's hash does not come is part of the reason above. */
function isSaid(line: PlanNote): boolean {
  return ['user', 'role', 'permission'].includes(line.about)
}

type Config = Extract<PlanThing, { kind: 'config' }>
type Service = Extract<PlanThing, { kind: 'service' }>

function configLines(line: Config, target: TargetKind): PlanLine[] {
  if (line.encryptedDataKey !== '' && target !== 'java-2' && target !== 'java-3')
    return [cannotGo(line, 'it is encrypted, and this server keeps no keys')]
  const notes = [line.desc, line.use, line.effect, line.schema, line.tags, line.appName]
  const hasNotes = notes.some((note) => note !== null && note !== '')
  return target === 'r-nacos' && hasNotes
    ? [line, remark(line, 'its description, tags and other notes')]
    : [line]
}

function serviceLines(line: Service, target: TargetKind): PlanLine[] {
  if (target === 'r-nacos') {
    const isPlain = line.clusters.length === 0 && line.selector.type === 'none'
    return isPlain ? [line] : [line, remark(line, 'its selector and the checkers of its clusters')]
  }
  if (!line.clusters.some(({ checker }) => lacksSecrets(checker))) return [line]
  const what = 'the passwords and header fields of its checkers, unless the server still has them'
  const reason = `it goes without ${what}: the source does not show them`
  return [line, { kind: 'remark', about: 'service', name: nameOf(line), reason }]
}

function remark(thing: PlanThing, what: string): PlanNote {
  const reason = `it goes without ${what}, which the server does not take or the source does not show`
  return { kind: 'remark', about: thing.kind, name: nameOf(thing), reason }
}

function cannotGo(thing: PlanThing, reason: string): PlanNote {
  return { kind: 'cannot-come', about: thing.kind, name: nameOf(thing), reason }
}
