/** Longer names are cut in the middle where there is no room: names of one project begin alike. */
const WHOLE = 24
const END = 16

/** A link that is called by a name, in one line. */
export function NameLink({ href, name }: { href: string; name: string }) {
  // By characters, so that none is halved.
  const characters = Array.from(name)
  const isLong = characters.length > WHOLE
  return (
    <a class="name-link" href={href} dir="auto" title={name} {...(isLong && { 'aria-label': name })}>
      {isLong ? (
        <>
          <span class="begin">{characters.slice(0, -END).join('')}</span>
          <span class="tail">{characters.slice(-END).join('')}</span>
        </>
      ) : (
        <span class="begin">{name}</span>
      )}
    </a>
  )
}
