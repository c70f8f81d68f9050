/** The tags of an item. */
export function Tags({ tags }: { tags: string }) {
  const each = tags.split(',').filter((tag) => tag !== '')
  if (each.length === 0) return null
  return (
    <div class="tags names">
      {each.map((tag) => (
        <span key={tag} class="badge accent" dir="auto">
          {tag}
        </span>
      ))}
    </div>
  )
}
