const PATHS = {
  home: 'M2.500 8L8 3l5.500 5 M4 7v6.500h8V7',
  compare: 'M5 3v9 M2.500 9.500L5 12l2.500-2.500 M11 13V4 M8.500 6.500L11 4l2.500 2.500',
  config: 'M4 2h5l3 3v9H4z M9 2v3h3 M6 8h4 M6 11h4',
  service: 'M8 2l5 3v6l-5 3-5-3V5z M8 8l5-3 M8 8L3 5 M8 8v6',
  namespace: 'M2 5l6-3 6 3-6 3z M2 8l6 3 6-3 M2 11l6 3 6-3',
  user: 'M8 8a3 3 0 100-6 3 3 0 000 6z M2.500 14c.500-3 2.700-4.500 5.500-4.500s5 1.500 5.500 4.500',
  role: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  key: 'M10.500 8.500a3 3 0 10-3-3 3 3 0 003 3z M8.300 7.700L3 13v1h2l1-1v-1h1v-1l1.500-1.500',
  audit: 'M3 3h10v10H3z M5.500 6h5 M5.500 8.500h5 M5.500 11h3',
  server: 'M2.500 3h11v4h-11z M2.500 9h11v4h-11z M5 5h.010 M5 11h.010',
  client: 'M5.500 2v3.500 M10.500 2v3.500 M4 5.500h8v2a4 4 0 01-8 0z M8 11.500V14',
  switch: 'M5 4h6a4 4 0 010 8H5a4 4 0 010-8z M5 6a2 2 0 100 4 2 2 0 000-4z',
  search: 'M7 12A5 5 0 107 2a5 5 0 000 10z M11 11l3 3',
  plus: 'M8 3v10 M3 8h10',
  close: 'M4 4l8 8 M12 4l-8 8',
  menu: 'M2.500 4.500h11 M2.500 8h11 M2.500 11.500h11',
  theme:
    'M8 11a3 3 0 100-6 3 3 0 000 6z M8 1v1.500 M8 13.500V15 M1 8h1.500 M13.500 8H15 M3 3l1 1 M12 12l1 1 M13 3l-1 1 M4 12l-1 1',
  language:
    'M8 14A6 6 0 108 2a6 6 0 000 12z M2 8h12 M8 2c2 2 2.500 4 2.500 6S10 12 8 14 M8 2C6 4 5.500 6 5.500 8S6 12 8 14',
  down: 'M4 6l4 4 4-4',
  lock: 'M4 7.500h8V14H4z M5.500 7.500V5a2.500 2.500 0 015 0v2.500',
  left: 'M10 4L6 8l4 4',
  right: 'M6 4l4 4-4 4',
  warn: 'M8 2l6.500 11.500h-13z M8 6.500v3 M8 11.700h.010',
  good: 'M3 8.500l3.500 3.500L13 5',
  copy: 'M6 6h7v7H6z M10 6V3H3v7h3',
  edit: 'M3 13l.700-3L11 2.700l2.300 2.300L6 12.300z',
  trash: 'M3 4.500h10 M6 4.500V3h4v1.500 M4.500 4.500l.500 9h6l.500-9 M7 7v4 M9 7v4',
  refresh: 'M13 8a5 5 0 11-1.500-3.500L13 6 M13 2.500V6H9.500',
  full: 'M3 6V3h3 M10 3h3v3 M13 10v3h-3 M6 13H3v-3',
  eye: 'M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8z M8 10a2 2 0 100-4 2 2 0 000 4z',
  keyboard: 'M1.500 4h13v8h-13z M4 7h.010 M7 7h.010 M10 7h.010 M12 7h.010 M5 10h6',
  gray: 'M8 14A6 6 0 108 2a6 6 0 000 12z M8 2v12 M10.500 3v10 M12.500 4.500v7',
  empty: 'M2 9l2-6h8l2 6v4H2z M2 9h3.500l1 1.500h3l1-1.500H14',
} as const

/** The name of a drawing. */
export type IconName = keyof typeof PATHS

/** A drawing beside a text; what it means is in the text. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
