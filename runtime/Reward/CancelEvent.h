// CancelEvent: something to poll that becomes readable once, and stays so.
#pragma once

namespace vime {

class CancelEvent {
public:
  CancelEvent();
  ~CancelEvent();
  CancelEvent(const CancelEvent &) = delete;

  /// From any thread.
  void set();
  bool isSet() const;
  int descriptor() const { return file; }
  /// Whether it was set within that time.
  bool waitFor(double seconds) const;

private:
  int file;
};

} // namespace vime
