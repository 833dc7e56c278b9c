import type { JSX } from 'preact'
import type { Remark } from '../../api/api.ts'
import { useWords } from '../../words/words.ts'

interface NotInForceProps {
  readonly remarks: readonly Remark[]
  nameOf(path: string): string
}

/** Stored values that are not in force. */
export function NotInForce({ remarks, nameOf }: NotInForceProps): JSX.Element | null {
  const words = useWords()
  if (remarks.length === 0) return null
  return (
    <div class="notice warning not-in-force" role="status">
      <p>{words.settings.notInForce}</p>
      <ul>
        {remarks.map(({ path, msg }) => (
          <li key={path}>
            {nameOf(path)} (<code>{path}</code>): {msg}
          </li>
        ))}
      </ul>
    </div>
  )
}
