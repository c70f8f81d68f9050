import type { Command } from '../../core/decisions/decision.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { inParts } from '../../core/work/in-parts.ts'
import { instancesMeant, type MetadataBatch } from '../../core/naming/commands/metadata-commands.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import type { Loop } from '../../core/work/sliced-work.ts'
import type { State } from '../../core/engine/state.ts'
import type { KnownInstance } from '../../core/decisions/view.ts'

/** Dependencies of batches. */
export interface BatchParts {
  readonly state: State
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  readonly clock: () => Now
  readonly loop: Pick<Loop, 'soon'>
}

/**
 * Carries out a batch of metadata; returns the instances that it means. A large batch is carried out in several
 * commands, one after the other; other requests are answered between them.
 */
export function carryOutBatch(
  parts: BatchParts,
  batch: MetadataBatch,
  commandOf: (batch: MetadataBatch) => Command<KnownInstance[]>,
): KnownInstance[] | Promise<KnownInstance[]> {
  const meant = instancesMeant(parts.state, batch)
  const { mostAtOnce } = parts.engine
  if (meant.length <= mostAtOnce) return parts.engine.execute(commandOf(batch))
  return carryOutAll(parts, () => commandsOf(inParts(meant, mostAtOnce), batch, commandOf))
}

/** Commands that together are the batch. */
function* commandsOf(
  parts: readonly KnownInstance[][],
  batch: MetadataBatch,
  commandOf: (batch: MetadataBatch) => Command<KnownInstance[]>,
): Generator<Command<KnownInstance[]>> {
  for (const part of parts) {
    const instances = part.map(({ record }) => ({ ...record.address, ephemeral: record.ephemeral }))
    yield commandOf({ ...batch, consistencyType: undefined, instances })
  }
}

async function carryOutAll(
  { state, engine, clock, loop }: BatchParts,
  commands: () => Iterable<Command<KnownInstance[]>>,
): Promise<KnownInstance[]> {
  const turn = () => new Promise<void>((resolve) => loop.soon(resolve))
  // All are decided before the first is carried out: a refusal changes nothing.
  for (const command of commands()) {
    command.decide(state, clock())
    await turn()
  }
  const updated: KnownInstance[] = []
  for (const command of commands()) {
    updated.push(...(await engine.execute(command)))
    await turn()
  }
  return updated
}
