import { counter, counterBy, gauge, type Metric } from './metric.ts'

/** Figures of one of several servers about the store, the others and itself. Counts are since the start. */
export interface ClusterFigures {
  readonly feed: () => FeedFigures
  readonly conflicts: () => number
  /** How many servers hold their lease. */
  readonly members: () => number
  readonly isElected: () => boolean
  readonly standing: () => (typeof STANDINGS)[number]
  /** The part of etcd's quota that each kind of keys takes, 0 to 1; undefined: this server does not measure it. */
  readonly quotaShares: () => Readonly<Record<string, number>> | undefined
  /** How far the clock of this server is ahead of most servers. */
  readonly clockAheadMs: () => number
  /** Undefined before the first sweep. */
  readonly care: () => CareFigures | undefined
  /** The questions of others by outcome; undefined before this server answers them. */
  readonly answered: () => Readonly<Record<string, number>> | undefined
}

interface FeedFigures {
  readonly applied: number
  readonly lagMs: number
  readonly reloads: number
  readonly drifts: number
  readonly leftOut: number
}

interface CareFigures {
  readonly questions: number
  readonly instancesAskedAbout: number
  readonly unanswered: number
  readonly restored: number
  readonly suspects: number
  readonly unansweringMembers: readonly string[]
}

const STANDINGS = ['member', 'alone', 'down-for-all'] as const

/** The metrics of one of several servers. */
export function clusterMetrics(figures: ClusterFigures): Metric[] {
  return [...storeMetrics(figures), ...memberMetrics(figures), ...judgingMetrics(figures)]
}

function storeMetrics({ feed, conflicts, quotaShares }: ClusterFigures): Metric[] {
  return [
    gauge(
      'waypost_store_revision',
      'The last revision of the shared store that this server has applied.',
      () => feed().applied,
    ),
    gauge(
      'waypost_store_lag_seconds',
      'How old what this server knows of the shared store may be.',
      () => feed().lagMs / 1_000,
    ),
    counter(
      'waypost_store_reloads_total',
      'How often everything was loaded again, because the store could not continue from the last revision.',
      () => feed().reloads,
    ),
    counter(
      'waypost_store_drifts_total',
      'How often what this server knew differed from the shared store, so that a kind of keys was loaded again.',
      () => feed().drifts,
    ),
    gauge(
      'waypost_store_damaged_keys',
      'How many keys of the shared store this server leaves out, because no server has written them or their values.',
      () => feed().leftOut,
    ),
    {
      name: 'waypost_etcd_quota_share',
      help: 'The part of the quota of etcd that each kind of keys takes, as the elected server estimates it; rest: earlier versions.',
      type: 'gauge',
      labels: ['kind'],
      read: () => Object.entries(quotaShares() ?? {}).map(([kind, share]) => [{ kind }, share] as const),
    },
    counter(
      'waypost_store_conflicts_total',
      'Decisions that were made again, because another server had changed what they rested on.',
      conflicts,
    ),
  ]
}

function memberMetrics({ members, isElected, standing, clockAheadMs, answered }: ClusterFigures): Metric[] {
  return [
    gauge('waypost_members', 'The servers that hold their lease, as this one knows them.', members),
    gauge('waypost_elected', '1 on the server that cleans for all.', () => (isElected() ? 1 : 0)),
    {
      name: 'waypost_standing',
      help: '1 for the standing of this server: a member, alone without the store, or without it like all others.',
      type: 'gauge',
      labels: ['standing'],
      read: () => STANDINGS.map((one) => [{ standing: one }, standing() === one ? 1 : 0] as const),
    },
    gauge(
      'waypost_clock_ahead_seconds',
      'How far the clock of this server is ahead of those of most servers; negative: behind.',
      () => clockAheadMs() / 1_000,
    ),
    counterBy(
      'waypost_peer_requests_total',
      'Requests on the peer port by outcome; foreign: of somebody without the secret of this installation; silent: closed unasked.',
      { label: 'outcome', read: () => Object.entries(answered() ?? {}) },
    ),
  ]
}

function judgingMetrics({ care }: ClusterFigures): Metric[] {
  const read = (of: (figures: CareFigures) => number) => (): number => {
    const figures = care()
    return figures === undefined ? 0 : of(figures)
  }
  return [
    counter(
      'waypost_peer_questions_total',
      'Questions about silent instances that this server has asked others.',
      read(({ questions }) => questions),
    ),
    counter(
      'waypost_peer_questioned_instances_total',
      'The instances in these questions.',
      read(({ instancesAskedAbout }) => instancesAskedAbout),
    ),
    counter(
      'waypost_peer_unanswered_total',
      'Questions about silent instances that were not answered in time.',
      read(({ unanswered }) => unanswered),
    ),
    gauge(
      'waypost_peer_unanswering_members',
      'Members that keep their lease and do not answer: silent instances stay listed.',
      read(({ unansweringMembers }) => unansweringMembers.length),
    ),
    gauge(
      'waypost_instances_suspected',
      'Silent instances that this server is judging.',
      read(({ suspects }) => suspects),
    ),
    counter(
      'waypost_instances_restored_total',
      'Instances that were removed for silence although this server had received a beat, and that it brought back.',
      read(({ restored }) => restored),
    ),
  ]
}
