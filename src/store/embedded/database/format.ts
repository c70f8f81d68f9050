import { NotExaminable, NothingStored } from '../../local-file.ts'

/** The format of a data directory. The server refuses every other format. Development builds have written 1 to 4. */
export const FORMAT = 5

/** The size of a page of the database file. */
export const PAGE_BYTES = 8192

/** Marks the database file as ours (PRAGMA application_id): the letters WPST. */
export const APPLICATION_ID = 0x57505354

/** Marks the file `waypost.json` as ours: its field `store`. */
export const STORE_MARK = 'WPST'

/** The mark of early development builds: the letters WAYP. Their file `waypost.json` has no mark. */
const DEVELOPMENT_APPLICATION_ID = 0x57415950

/** Why a marked database cannot be used, with advice; undefined if it has this format, or one never written. */
export function databaseRefusal(
  directory: string,
  { applicationId, format }: { applicationId: number; format: number },
): Error | undefined {
  if (applicationId === DEVELOPMENT_APPLICATION_ID) return developmentDirectory(directory)
  if (applicationId === APPLICATION_ID) return formatRefusal(directory, format)
  return new NothingStored(
    `The file waypost.db in the data directory ${directory} is a database of another program. ` +
      'Choose another data directory.',
  )
}

/** As `databaseRefusal`, for the facts in `waypost.json`. */
export function markerRefusal(
  directory: string,
  { store, format }: { store: unknown; format: number },
): Error | undefined {
  return (
    formatRefusal(directory, format) ?? (store === undefined ? developmentDirectory(directory) : undefined)
  )
}

function formatRefusal(directory: string, format: number): Error | undefined {
  if (format > FORMAT) return newerFormat(directory, format)
  return format >= 1 && format < FORMAT ? developmentDirectory(directory, format) : undefined
}

/** `format`: undefined where it has no number. */
function developmentDirectory(directory: string, format?: number): Error {
  const what = format === undefined ? '' : `, of format ${format},`
  return new NotExaminable(
    `The data directory ${directory}${what} was written by a development build from before Waypost 0.1.0, and this version cannot read it. ` +
      'Either start with an empty data directory (--data-dir), or keep the configurations: start the build that wrote it, ' +
      'run `waypost export` there, and `waypost import` against a server of this version with an empty data directory.',
  )
}

function newerFormat(directory: string, format: number): Error {
  return new NotExaminable(
    `The data directory ${directory} has format ${format}, and this version of Waypost reads format ${FORMAT}. ` +
      'Use the version that wrote it, or a later one.',
  )
}
