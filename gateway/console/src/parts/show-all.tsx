interface Given {
  /** Items of the list, and those that are shown before. */
  count: number;
  first: number;
  onShow: () => void;
}

/** Shows the rest of the list or table before it. The first item of the rest takes the focus, because the button is removed. */
export function ShowAll({ count, first, onShow }: Given) {
  return (
    <p class="pages">
      <button
        type="button"
        class="small"
        onClick={({ currentTarget }) => {
          const list = currentTarget.parentElement!.previousElementSibling!;
          onShow();
          requestAnimationFrame(() => {
            const item = list.querySelectorAll<HTMLElement>('li, tbody tr')[first]!;
            item.tabIndex = -1;
            item.focus();
          });
        }}
      >
        Show all {count}
      </button>
    </p>
  );
}
