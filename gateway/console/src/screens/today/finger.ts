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
  /** Removes the listeners that follow the finger. */
  readonly listening: AbortController;
  readonly onEnd: () => void;
  lifted: boolean;
  moved: boolean;
  /** The row under the finger, on which the element would be dropped. */
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

function finish(): void {
  if (press === undefined) return;
  const { element, timer, listening, onEnd, lifted } = press;
  clearTimeout(timer);
  listening.abort();
  mark(undefined);
  delete element.dataset['lifted'];
  press = undefined;
  if (lifted) onEnd();
}

function move(event: TouchEvent): void {
  const touch = event.targetTouches[0];
  if (press === undefined || touch === undefined) return;
  press.moved ||= Math.hypot(touch.clientX - press.x, touch.clientY - press.y) > REST;
  if (!press.lifted) {
    if (press.moved) finish();
    return;
  }
  // The page scrolls already, and cannot be stopped.
  if (!event.cancelable) return finish();
  event.preventDefault();
  if (!press.moved) return;
  if (touch.clientY < EDGE) scrollBy(0, -EDGE / 4);
  if (touch.clientY > innerHeight - EDGE) scrollBy(0, EDGE / 4);
  mark(rowAt(touch));
}

function release(event: TouchEvent): void {
  if (press?.lifted && press.moved && event.cancelable) {
    // Otherwise a click would follow. What a finger only rested on, such as the button, gets it.
    event.preventDefault();
    press.row?.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true }));
  }
  finish();
}

/** Handlers of an element that a finger can drag. It is dropped on a row by the event that a mouse makes. */
export function byFinger(onLift: () => void, onEnd: () => void) {
  return {
    onTouchStart: ({ target, targetTouches: [first, second], currentTarget: element }: TouchEvent & { currentTarget: HTMLElement }) => {
      finish();
      if (!(target instanceof HTMLElement) || first === undefined || second !== undefined) return;
      const timer = setTimeout(() => {
        if (press === undefined) return;
        press.lifted = true;
        element.dataset['lifted'] = '';
        onLift();
      }, LONG_PRESS_MS);
      const listening = new AbortController();
      press = { x: first.clientX, y: first.clientY, element, timer, listening, onEnd, lifted: false, moved: false, row: undefined };
      // Not handlers of the element: it may lose them while it is held.
      const options = { passive: false, signal: listening.signal };
      target.addEventListener('touchmove', move, options);
      target.addEventListener('touchend', release, options);
      target.addEventListener('touchcancel', finish, options);
    },
    // Before iOS 15, a listener that is added during a touch cannot stop scrolling unless there was one already.
    onTouchMove: () => undefined,
    // A long press also opens the menu of a link.
    onContextMenu: (event: Event) => {
      if (press !== undefined) event.preventDefault();
    },
  };
}

/** Whether a finger rests on something that can be dragged. Then a browser must not begin a native drag. */
export const isPressed = (): boolean => press !== undefined;
