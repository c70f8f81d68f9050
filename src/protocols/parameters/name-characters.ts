/*
 * The characters that names are made of. No pattern repeats within a repetition: each is linear in the length,
 * and lengths are judged before patterns.
 */

export const NAME = '^[\\p{L}\\p{Nd}_.:-]+$'
export const NAME_ALLOWED = 'letters, digits and _ - . : only'
export const ID = '^[0-9A-Za-z_-]+$'
export const ID_ALLOWED = 'letters a-z and A-Z, digits, _ and - only'
