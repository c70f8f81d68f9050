import { FIRST_RELEASED, type MemberVersions } from './versions.ts'

const ONLY = { from: FIRST_RELEASED, to: FIRST_RELEASED }

/** The versions that members of tests understand. */
export const VERSIONS: MemberVersions = { layouts: ONLY, messages: ONLY }
