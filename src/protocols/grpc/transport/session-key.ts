import { createContextKey } from '@connectrpc/connect'
import type { ClientSession } from '../connections/client-session.ts'

/** Where a call has the session that it came on. */
export const SESSION = createContextKey<ClientSession | undefined>(undefined)
