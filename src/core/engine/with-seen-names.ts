import { USER, USER_ROLE } from '../access/access-records.ts'
import { DELETED_CONFIG } from '../config/state/deleted-config.ts'
import type { ConfigKey } from '../config/state/config-item.ts'
import { GRAY, type GrayItem } from '../config/state/gray-version.ts'
import { type Change, savedValue } from '../decisions/changes.ts'
import type { Decision } from '../decisions/decision.ts'
import type { Now } from '../decisions/stamps.ts'
import type { View } from '../decisions/view.ts'
import { NAMESPACE } from '../namespaces/namespace.ts'
import type { RecordSaved } from '../records/record-kind.ts'
import { Refusal } from '../refusal.ts'
import { hiddenIn, hiddenInText, withoutHidden } from '../text/hidden-characters.ts'
import type { Engine } from './ports.ts'
import { WrappedCommand } from './wrapped-command.ts'

/** Judges a name of a change. `isKnown`: it is there already. It is asked only for a name that nobody could read. */
type JudgeName = (parameter: string, name: string, isKnown: () => boolean) => void

/**
 * An engine that refuses to make names with characters that nobody sees: a name beside another one that looks the same. The
 * names are judged in the changes of each decision, so for every protocol. Names that are there already stay as they are, and so do names
 * that an import takes over (`Command.takesNames`).
 */
export function withSeenNames(engine: Engine): Engine {
  return {
    mostAtOnce: engine.mostAtOnce,
    get backlog() {
      return engine.backlog
    },
    execute: (command) => engine.execute(command.takesNames === true ? command : new Judged(command)),
    applyBehind: (changes) => engine.applyBehind(changes),
    tick: () => engine.tick(),
    close: () => engine.close(),
  }
}

/** A command whose decisions are judged. */
class Judged<T> extends WrappedCommand<T> {
  override decide(view: View, now: Now): Decision<T> {
    const decision = super.decide(view, now)
    for (const change of decision.changes) judge(change, view)
    return decision
  }
}

function judge(change: Change, view: View): void {
  switch (change.kind) {
    case 'config-published':
      return judgeItem(change.item.key, change.item.notes.configTags, view)
    case 'service-saved': {
      const { key } = change.service
      const [groupName = '', serviceName = ''] = key.groupedName.split('@@', 2)
      const isKnown = (): boolean => view.service(key) !== undefined
      judgeName('groupName', groupName, isKnown)
      return judgeName('serviceName', serviceName, isKnown)
    }
    case 'instance-saved': {
      const { serviceKey, record } = change
      return judgeName('ip', record.address.ip, () => view.instance(serviceKey, record.address) !== undefined)
    }
    case 'record-saved':
      return judgeRecord(change, view)
    case 'config-deleted':
    case 'history-imported':
    case 'service-deleted':
    case 'instance-removed':
    case 'instance-health-changed':
    case 'record-removed':
  }
}

function judgeRecord(change: RecordSaved, view: View): void {
  const gray = savedValue(GRAY, change)
  const namespace = savedValue(NAMESPACE, change)
  const userRole = savedValue(USER_ROLE, change)
  if (gray !== undefined) judgeGray(gray, view)
  if (namespace !== undefined)
    judgeText('namespaceName', namespace.showName, view.record(NAMESPACE, namespace.id)?.showName)
  if (change.recordKind === USER.name)
    judgeName('username', change.id, () => view.record(USER, change.id) !== undefined)
  if (userRole !== undefined) judgeName('role', userRole.role, () => isRole(userRole.role, view))
}

function isRole(name: string, view: View): boolean {
  for (const [, { role }] of view.records(USER_ROLE)) if (role === name) return true
  return false
}

/** Throws Refusal `invalid-parameter` if an item of this name, or these tags, must not be made. */
export function judgeItem(
  key: ConfigKey,
  configTags: string | null,
  view: Pick<View, 'config' | 'record'>,
): void {
  judgeKey(key, view)
  judgeText('configTags', configTags ?? '', view.config(key)?.notes.configTags ?? '')
}

function judgeKey(key: ConfigKey, view: Pick<View, 'config' | 'record'>): void {
  const isKnown = (): boolean =>
    view.config(key) !== undefined ||
    view.record(GRAY, key.text) !== undefined ||
    view.record(DELETED_CONFIG, key.text) !== undefined
  judgeName('group', key.group, isKnown)
  judgeName('dataId', key.dataId, isKnown)
}

function judgeGray({ key, versions }: GrayItem, view: View): void {
  judgeKey(key, view)
  const before = view.record(GRAY, key.text)?.versions ?? []
  for (const { name } of versions)
    judgeName('grayName', name, () => before.some((version) => version.name === name))
}

const judgeName: JudgeName = (parameter, name, isKnown) => {
  const hidden = hiddenIn(name)
  if (hidden !== undefined && !isKnown()) throw hasHidden(parameter, name, hidden)
}

/** Judges a free text, which may have emoji. */
function judgeText(parameter: string, text: string, before: string | undefined): void {
  const hidden = text === before ? undefined : hiddenInText(text)
  if (hidden !== undefined) throw hasHidden(parameter, text, hidden)
}

function hasHidden(parameter: string, name: string, hidden: string): Refusal {
  const allowed = 'without characters that nobody sees'
  const shown = withoutHidden(name, (character) => `[${hiddenIn(character)}]`)
  const message = `${parameter} must be ${allowed}, but has ${hidden}: ${shown}`
  return new Refusal('invalid-parameter', message, { parameter, allowed })
}
