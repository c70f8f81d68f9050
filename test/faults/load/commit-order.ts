/** An acknowledged write with the id of its history record. */
export interface Committed {
  readonly id: number
  readonly begunMs: number
  readonly endedMs: number
}

/** Finds writes that ended before another began and have the higher id. Ids rise in the order of commits. */
export function wrongInCommitOrder(commits: readonly Committed[]): string[] {
  const wrong: string[] = []
  let latest: Committed | undefined
  for (const commit of [...commits].sort((a, b) => a.id - b.id)) {
    if (latest !== undefined && commit.endedMs < latest.begunMs)
      wrong.push(`record ${commit.id} was acknowledged before the write of record ${latest.id} began`)
    if (latest?.id === commit.id) wrong.push(`two writes have record ${commit.id}`)
    if (latest === undefined || commit.begunMs > latest.begunMs) latest = commit
  }
  return wrong
}
