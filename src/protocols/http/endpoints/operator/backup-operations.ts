import { jsonAnswer } from '../../routing/answers.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import { Type } from '../../../parameters/schema.ts'

/** What the operations on backups work on. */
export interface BackupParts {
  readonly backups: {
    /** Makes a backup on the server's machine; answers what it is. */
    make(label: string): Promise<object>
    /** How far a running one has come. */
    progress(): object | undefined
  }
}

const LABEL_ALLOWED = '1 to 40 of the characters a-z, 0-9 and -'

/** A backup is written where the server's settings say: nothing that a client sends becomes a path. */
export function backupOperations({ backups }: BackupParts) {
  return {
    make: operation({
      summary: 'Make a backup of the store, on the disk of the server; answers when it is verified',
      permission: { action: 'write', resource: 'backup' },
      params: Type.Object({
        label: Type.Optional(
          Type.String({
            pattern: '^[a-z0-9-]{1,40}$',
            allowed: LABEL_ALLOWED,
            description: 'A word that the name of the backup has in it.',
          }),
        ),
      }),
      handle: async ({ params }) => jsonAnswer(await backups.make(params.label ?? '')),
    }),
    progress: operation({
      summary: 'Query how far a running backup has come',
      permission: { action: 'read', resource: 'backup' },
      params: Type.Object({}),
      handle: () => {
        const progress = backups.progress()
        return jsonAnswer({ running: progress !== undefined, ...progress })
      },
    }),
  } satisfies Record<string, Operation>
}
