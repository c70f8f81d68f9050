import { typeOfWord } from '../../core/config/state/type-names.ts'
import type {
  PlanConfig,
  PlanGray,
  PlanHistory,
  PlanInstance,
  PlanItem,
  PlanNote,
  PlanService,
} from '../../plan/plan.ts'
import type { OldPage, OldRecord, OldService } from './dialect.ts'
import { type Fields, metadataOf, numberOf, textOf } from './fields.ts'
import { JavaV1 } from './java-v1.ts'

/** The interface of the Rust server under `/v1`. */
export class RNacos extends JavaV1 {
  override readonly hasAccess = false
  override readonly hidesNotes = true
  override readonly missing: readonly PlanNote[] = [
    missing('history', 'all records'),
    missing('config', 'descriptions'),
    missing('user', 'users and their passwords'),
    missing('switch', 'all', 'this server has none'),
  ]

  override async config(item: PlanItem): Promise<PlanConfig | undefined> {
    const { namespace: tenant, group, dataId } = item
    const answer = await this.server.answer('/v1/cs/configs', { dataId, group, tenant })
    if (answer.status === 404) return undefined
    if (answer.status !== 200) await this.server.get('/v1/cs/configs', { dataId, group, tenant })
    // The Rust server shows the type nowhere else.
    const type = typeOfWord(answer.headers.get('content-type') ?? '') ?? 'text'
    const nothing = { desc: null, use: null, effect: null, schema: null, tags: null, user: null, ip: null }
    return {
      kind: 'config',
      ...item,
      ...nothing,
      content: answer.text,
      md5: answer.headers.get('content-md5'),
      encryptedDataKey: '',
      appName: '',
      type,
      createdMs: null,
      modifiedMs: null,
    }
  }

  override async grays(): Promise<readonly PlanGray[]> {
    return []
  }

  override async records(): Promise<OldPage<OldRecord>> {
    return { entries: [], total: 0 }
  }

  override async record(): Promise<PlanHistory | undefined> {
    return undefined
  }

  protected override listed(namespace: string, fields: Fields): OldService {
    const known = {
      protectThreshold: numberOf(fields['protectThreshold'], 0),
      metadata: fields['metadata'],
    }
    return { namespace, group: textOf(fields['groupName']), name: textOf(fields['name']), known }
  }

  override async service(named: OldService): Promise<PlanService | undefined> {
    const { namespace, group, name, known = { protectThreshold: 0, metadata: {} } } = named
    return {
      kind: 'service',
      namespace,
      group,
      name,
      protectThreshold: known.protectThreshold,
      metadata: metadataOf(known.metadata),
      selector: { type: 'none', expression: '' },
      clusters: [],
      ephemeral: null,
    }
  }

  /** No name of a cluster means all. */
  override async instances(service: PlanService): Promise<readonly PlanInstance[]> {
    await this.seeClock(service)
    const found: PlanInstance[] = []
    for await (const one of this.instancesIn(service, '')) found.push(one)
    return found
  }

  override async nodes(): Promise<undefined> {
    return undefined
  }

  override async switches(): Promise<Fields> {
    return {}
  }
}

function missing(about: string, name: string, reason = 'the server does not give them over HTTP'): PlanNote {
  return { kind: 'cannot-come', about, name, reason }
}
