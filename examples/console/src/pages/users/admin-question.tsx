import type { JSX } from 'preact'
import { Confirm } from '../../ui/confirm.tsx'
import { useWords } from '../../words/words.ts'

interface QuestionProps {
  readonly id: string
  /** Whether the role is given or taken. */
  readonly kind: 'give' | 'take'
  act(): void
  onClose(): void
}

/** An administrator can change everything, and take the role from the one who gave it. */
export function AdminQuestion({ id, kind, ...rest }: QuestionProps): JSX.Element {
  const { title, about, yes } = useWords().users.adminQuestion[kind]
  return <Confirm title={title(id)} about={about} yes={yes} {...rest} />
}
