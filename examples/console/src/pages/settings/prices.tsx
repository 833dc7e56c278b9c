import type { JSX } from 'preact'
import { EditorValue } from '../../form/fields.tsx'
import type { Editor } from '../../form/use-editor.ts'
import { CATEGORIES, type Category, PRICES } from '../../limits.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'

export function Prices({ editor }: { editor: Editor }): JSX.Element {
  const { settings } = useWords()
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">{settings.prices}</h2>
      <p class="quiet">{settings.pricesAbout}</p>
      <div class="columns">
        {CATEGORIES.map((category) => (
          <PriceTable key={category} editor={editor} category={category} />
        ))}
      </div>
    </section>
  )
}

function PriceTable({ editor, category }: { editor: Editor; category: Category }): JSX.Element {
  const { settings } = useWords()
  const names = useNames()
  const { number } = useFormats()
  return (
    <table class="prices">
      <caption>{names.category(category)}</caption>
      <thead>
        <tr>
          <th scope="col">{settings.operation}</th>
          <th scope="col" class="number">
            {settings.defaultPrice}
          </th>
          <th scope="col">{settings.price}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(PRICES[category]).map(([name, cost]) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td class="number">{number(cost)}</td>
            <td>
              <EditorValue
                editor={editor}
                path={`prices.${name}`}
                label={settings.priceOf(name)}
                placeholder={number(cost)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
