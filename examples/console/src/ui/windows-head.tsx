import type { JSX } from 'preact'
import { useNames } from '../words/names.ts'

export function WindowsHead({ labels }: { readonly labels: readonly string[] }): JSX.Element {
  const names = useNames()
  return (
    <thead>
      <tr>
        <td />
        {labels.map((label) => (
          <th key={label} scope="col">
            {names.window(label)}
          </th>
        ))}
      </tr>
    </thead>
  )
}
