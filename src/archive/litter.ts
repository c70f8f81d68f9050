/**
 * Files and folders that operating systems, editors and version control leave beside the files of people. The list is
 * closed: every reader of archives and directories leaves these out, unless the metadata describes an item of that name.
 */
export const LITTER = {
  /** Whole names, compared without case. */
  names: [
    '__macosx',
    '.ds_store',
    '.appledouble',
    '.lsoverride',
    '.localized',
    '.spotlight-v100',
    '.trashes',
    '.fseventsd',
    '.temporaryitems',
    '.documentrevisions-v100',
    'thumbs.db',
    'ehthumbs.db',
    'desktop.ini',
    '$recycle.bin',
    'system volume information',
    '.directory',
    'lost+found',
    '.git',
    '.gitignore',
    '.gitattributes',
    '.gitkeep',
    '.svn',
    '.hg',
    '.idea',
    '.vscode',
  ],
  /** Copies, locks and swap files of editors; trash and leftovers of file systems. */
  patterns: [
    /^\._/,
    /^~\$/,
    /~$/,
    /^#.*#$/,
    /^\.#/,
    /^\..*\.(?:sw[a-p]|kate-swp)$/,
    /___jb_(?:tmp|old)___$/,
    /^\.trash-\d+$/i,
    /^\.(?:nfs|fuse_hidden)[0-9a-f]+$/,
  ],
} as const

const NAMES: ReadonlySet<string> = new Set(LITTER.names)

/** Whether a part of a path is litter. */
export function isLitterName(name: string): boolean {
  return NAMES.has(name.toLowerCase()) || LITTER.patterns.some((pattern) => pattern.test(name))
}

/** Whether a file lies in litter, or is litter. */
export function isLitter(parts: readonly string[]): boolean {
  return parts.some(isLitterName)
}
