import type { JSX } from 'preact'
import { Confirm } from '../../ui/confirm.tsx'
import { useWords } from '../../words/words.ts'

interface QuestionProps {
  readonly id: string
  /** Whether to grant or to remove the role. */
  readonly kind: 'give' | 'take'
  act(): void
  onClose(): void
}

export function AdminQuestion({ id, kind, ...rest }: QuestionProps): JSX.Element {
  const { title, about, yes } = useWords().users.adminQuestion[kind]
  return <Confirm title={title(id)} about={about} yes={yes} {...rest} />
}
