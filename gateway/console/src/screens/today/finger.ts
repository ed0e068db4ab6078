// Dragging by a finger. A long press lifts what is under it; a finger that moves earlier scrolls.

const LONG_PRESS_MS = 400;
/** Movement in px that a resting finger makes. */
const REST = 10;
/** Distance in px from the top or bottom edge at which a drag scrolls the page. */
const EDGE = 72;

interface Press {
  readonly x: number;
  readonly y: number;
  readonly element: HTMLElement;
  readonly timer: ReturnType<typeof setTimeout>;
  lifted: boolean;
  /** The row under the finger. */
  row: HTMLElement | undefined;
}

/** Outside the elements, because they are rendered again during a drag. */
let press: Press | undefined;

const rowAt = ({ clientX, clientY }: Touch): HTMLElement | undefined =>
  document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-technician]') ?? undefined;

function mark(row: HTMLElement | undefined): void {
  delete press?.row?.dataset['over'];
  if (row !== undefined) row.dataset['over'] = '';
  if (press !== undefined) press.row = row;
}

function end(): void {
  if (press === undefined) return;
  clearTimeout(press.timer);
  mark(undefined);
  delete press.element.dataset['lifted'];
  press = undefined;
}

/** Handlers of an element that a finger can drag. It is dropped on a row by the event that a mouse makes. */
export function byFinger(onLift: () => void, onEnd: () => void) {
  function finish(): void {
    if (press?.lifted) onEnd();
    end();
  }
  return {
    onTouchStart: ({ touches, currentTarget: element }: TouchEvent & { currentTarget: HTMLElement }) => {
      end();
      const [first, second] = touches;
      if (first === undefined || second !== undefined) return;
      const timer = setTimeout(() => {
        if (press === undefined) return;
        press.lifted = true;
        element.dataset['lifted'] = '';
        onLift();
      }, LONG_PRESS_MS);
      press = { x: first.clientX, y: first.clientY, element, timer, lifted: false, row: undefined };
    },
    onTouchMove: (event: TouchEvent) => {
      const touch = event.touches[0];
      if (press === undefined || touch === undefined) return;
      if (press.lifted) {
        // The page scrolls already, and cannot be stopped.
        if (!event.cancelable) return finish();
        event.preventDefault();
        mark(rowAt(touch));
        if (touch.clientY < EDGE) scrollBy(0, -EDGE / 4);
        if (touch.clientY > innerHeight - EDGE) scrollBy(0, EDGE / 4);
      } else if (Math.hypot(touch.clientX - press.x, touch.clientY - press.y) > REST) end();
    },
    onTouchEnd: (event: TouchEvent) => {
      const touch = event.changedTouches[0];
      if (press?.lifted && touch !== undefined && event.cancelable) {
        // Otherwise a click would follow.
        event.preventDefault();
        rowAt(touch)?.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true }));
      }
      finish();
    },
    onTouchCancel: finish,
    // A long press also opens the menu of a link.
    onContextMenu: (event: Event) => {
      if (press !== undefined) event.preventDefault();
    },
  };
}

/** Whether a finger rests on something that can be dragged. Then a browser must not begin a native drag. */
export const isPressed = (): boolean => press !== undefined;
