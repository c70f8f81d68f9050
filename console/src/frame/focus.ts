/** Puts the focus into what was drawn: the field that asks for it, else the heading, so that a screen reader says where one is. */
export function focusOn(main: HTMLElement | null): void {
  const field = main?.querySelector<HTMLElement>('[autofocus]')
  const heading = main?.querySelector<HTMLElement>('h1')
  heading?.setAttribute('tabindex', '-1')
  const target = field ?? heading ?? main
  target?.focus({ preventScroll: true })
}
