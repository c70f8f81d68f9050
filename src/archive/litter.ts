/**
 * Files and folders that operating systems, editors and version control leave beside the files of people. The list is
 * closed: every reader of archives and directories leaves these out, unless the metadata describes an item of that name.
 * A name that people give to items too, such as `app.yml.bak`, is not in it.
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
    '.apdisk',
    '.volumeicon.icns',
    'icon\r',
    'network trash folder',
    'temporary items',
    'thumbs.db',
    'thumbs.db:encryptable',
    'ehthumbs.db',
    'ehthumbs_vista.db',
    'desktop.ini',
    '$recycle.bin',
    'system volume information',
    '.directory',
    'lost+found',
    '.git',
    '.gitignore',
    '.gitattributes',
    '.gitkeep',
    '.gitmodules',
    '.svn',
    '.hg',
    '.hgignore',
    '.hgtags',
    '.bzr',
    '.idea',
    '.vs',
    '.vscode',
    '.stfolder',
    '.stversions',
    '.dropbox',
    '.dropbox.cache',
  ],
  /** Copies, locks and swap files of editors; trash and leftovers of file systems. */
  patterns: [
    /^\._/,
    /^~\$/,
    /~$/,
    /^#.*#$/,
    /^\.#/,
    /^\.(?:.*\.)?(?:sw[a-px]|kate-swp)$/,
    /^\.~lock\..*#$/,
    /^\.goutputstream-/,
    /^~.*\.tmp$/i,
    /^[.~]syncthing[.~]/,
    // Where a file came from: Windows keeps it beside a file, and copies have it as a file.
    /:zone\.identifier$/i,
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
